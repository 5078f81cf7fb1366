import { Refusal } from '../domain/refusal.ts';
import type { Devices } from './port.ts';

/** The way to devices where there is no adapter: no name is known. */
export const noDevices = (): Devices => {
  const find = async (device: string): Promise<never> => {
    throw new Refusal('not_found', `No adapter knows a device ${JSON.stringify(device)}`);
  };
  return { find, apply: (_, { name }) => find(name), configuration: find, run: find, close: async () => undefined };
};
