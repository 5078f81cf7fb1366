import type { Clocks } from '../../src/service/serviceNode.ts';
import { type People, people } from './people.ts';
import { startService, type TestService } from './service.ts';

/** Stands for what a hook makes before the first test. */
const standIn = <T extends object>(made: () => T): T =>
  new Proxy({} as T, { get: (_, member) => Reflect.get(made(), member) });

/** The service of the tests of a `describe`: it is started before them, and stopped after them. */
export const useService = (settings: Record<string, string> = {}, clocks?: Clocks): TestService => {
  let service: TestService;
  before(async () => {
    service = await startService(settings, undefined, clocks);
  });
  after(() => service.stop());
  return standIn(() => service);
};

/** The accounts of `people` in a service. */
export const usePeople = (service: TestService): People => {
  let made: People;
  before(async () => {
    made = await people(service);
  });
  return standIn(() => made);
};
