import { ok } from './people.ts';
import { adminPassword, type TestService } from './service.ts';

/** Milliseconds of a request whose password is verified anew: the median of nine, each by another header of the same caller. */
export const freshLogin = (service: TestService) => {
  let spaces = 0;
  const once = async (): Promise<number> => {
    const Authorization = `Basic${' '.repeat(++spaces)}${btoa(`admin:${adminPassword}`)}`;
    const began = performance.now();
    ok(await service.ask('GET', '/authorization/groups', undefined, { Authorization }, null));
    return performance.now() - began;
  };
  return async (): Promise<number> => {
    const all: number[] = [];
    for (let i = 0; i < 9; i++) all.push(await once());
    return all.sort((a, b) => a - b)[4]!;
  };
};
