import { RequestError } from '../../domain/engine/requestError.ts';
import type { NewSource } from '../../domain/inventory-manager/inventorySources.ts';
import type { Outbound } from '../outbound.ts';
import { ansibleNodes } from './ansible.ts';
import { csvNodes } from './csv.ts';
import { dcimNodes } from './dcim.ts';
import type { SourceNodes } from './port.ts';

/** The nodes that a source brings itself. Throws `invalid` with this path. */
export const nodesInText = async (
  { type, text = '' }: Pick<NewSource, 'type' | 'text'>,
  path: string,
): Promise<SourceNodes> => {
  const refuse = (message: string): never => {
    throw new RequestError('invalid', message, { path });
  };
  return { nodes: type === 'csv' ? await csvNodes(text, refuse) : ansibleNodes(text, refuse), leftOut: [] };
};

/** Reads sources of inventories, whose secrets are in clear. */
export const sourceReader =
  (guard: Outbound) =>
  async (source: NewSource, reading: Parameters<typeof dcimNodes>[2]): Promise<SourceNodes> => {
    const { type, url = '', token = '', filters = {} } = source;
    return type === 'csv' || type === 'ansible'
      ? nodesInText(source, '/text')
      : dcimNodes({ type, url, token, filters }, guard, reading);
  };

export type SourceReader = ReturnType<typeof sourceReader>;
