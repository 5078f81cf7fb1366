import { stopSignal } from '../../process/program.ts';
import type { Compared, Fold } from '../../projections/foldLog.ts';
import { logUrl } from '../../store/url.ts';
import { argument, command } from '../engine/command.ts';
import { progressLine, type Terminal } from '../progress.ts';
import { showCompared } from '../records.ts';
import { logCopy } from './logCopy.ts';

export const replay = command({
  name: 'replay',
  about: 'Copy a log as `log copy` does, fold both logs, and compare them document by document',
  args: {
    from: argument('sqlite:<file> or esdb://...'),
    to: argument('the same; it may hold a part of the log already'),
  },
  help: 'The exit status is 3 if a document differs. The service must be stopped.',
  run: async ({ from, to }) => {
    const collections = await replayLog(from, to, stopSignal('Stopped; run the same command again to go on'));
    return (await showCompared(collections)) ? 3 : 0;
  },
});

const folded = async (url: string, output: Terminal): Promise<Fold> => {
  const { openLogToRead } = await import('../../store/open.ts');
  const { withPayloads } = await import('../../store/payloads.ts');
  const { foldLog } = await import('../../projections/foldLog.ts');
  const { mayHaveParts } = await import('../../events/ownStreams.ts');
  const log = withPayloads(await openLogToRead(logUrl(url), () => undefined), mayHaveParts);
  const progress = progressLine(output);
  try {
    const fold = await foldLog(log);
    await fold.foldTo(Infinity, (position) => progress.show(() => `folding: position ${position}`));
    return fold;
  } finally {
    progress.end();
    await log.close();
  }
};

/**
 * Copies the log at one URL to another, folds both, and compares the documents. Gives the collections with the ids of
 * documents that differ.
 */
export const replayLog = async (
  from: string,
  to: string,
  signal: AbortSignal,
  output: Terminal = process.stderr,
): Promise<readonly Compared[]> => {
  await logCopy(from, to, signal, { output });
  const one = await folded(from, output);
  signal.throwIfAborted();
  const other = await folded(to, output);
  return (await import('../../projections/foldLog.ts')).compareFolds(one, other);
};
