import { isObject } from '@automation-platform/json';
import { stopSignal } from '../../process/program.ts';
import type { Compared } from '../../projections/foldLog.ts';
import { type Access, accessFrom, askHelp, askOptions, messageOf, noAnswer, platformAt } from '../askService.ts';
import { command } from '../engine/command.ts';
import { showCompared } from '../records.ts';

export const rebuild = command({
  name: 'rebuild',
  about: 'Compare the read models of the running service with its log, and put right what differs',
  options: askOptions,
  help: `The service goes on meanwhile. The exit status is 3 if a document differed.\n${askHelp}`,
  run: async (options) => {
    const collections = await askRebuild(await accessFrom(options), stopSignal('Stopped; the service goes on with it'));
    return (await showCompared(collections)) ? 3 : 0;
  },
});

/** Asks the running service to make its read models anew. Gives what it found. */
export const askRebuild = async (access: Access, signal: AbortSignal): Promise<readonly Compared[]> => {
  const { status, body } = await platformAt(access, signal).ask({ method: 'POST', path: '/health/rebuild' });
  if (status !== 200) throw new Error(messageOf(body, status));
  if (!isObject(body) || !Array.isArray(body.collections)) throw noAnswer(access);
  return body.collections as readonly Compared[];
};
