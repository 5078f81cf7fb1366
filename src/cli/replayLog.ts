import { mayHaveParts } from '../events/ownStreams.ts';
import { type Compared, compareFolds } from '../projections/compareFolds.ts';
import { type Fold, foldLog } from '../projections/foldLog.ts';
import { openLogToRead } from '../store/open.ts';
import { withPayloads } from '../store/payloads.ts';
import { logUrl } from '../store/url.ts';
import { logCopy } from './logCopy.ts';
import { progressLine, type Terminal } from './progress.ts';

const folded = async (url: string, output: Terminal): Promise<Fold> => {
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
  return compareFolds(one, await folded(to, output));
};
