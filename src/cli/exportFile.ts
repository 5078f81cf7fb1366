import { auditKeySource, type Config } from '../config.ts';
import { isOwnStream } from '../events/ownStreams.ts';
import { incompleteStreams } from '../store/copyContent.ts';
import { acceptedSums } from '../store/moving/acceptedSums.ts';
import { exportLog } from '../store/moving/exportLog.ts';
import { openRemoteToCopy } from '../store/open.ts';
import { fingerprintOf, keysAtHand } from '../store/proof/keys.ts';
import { openSqliteReader } from '../store/sqlite/store.ts';
import { progressLine, type Terminal } from './progress.ts';

type Choices = {
  /** Leaves out tools' streams that have lost events. */
  readonly skipIncomplete?: boolean;
  readonly output?: NodeJS.WritableStream;
  readonly messages?: Terminal;
};

/** Writes a text, and waits until the output takes more. Rejects when nobody reads any more. */
const writerTo = (output: NodeJS.WritableStream) => {
  let failed: Error | undefined;
  let wake = (): void => undefined;
  output.on('error', (error: Error) => {
    failed = error;
    wake();
  });
  output.on('drain', () => wake());
  return async (text: string): Promise<void> => {
    if (failed) throw failed;
    if (output.write(text)) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (failed) throw failed;
  };
};

const open = async ({ EVENTSTORE_URL: at }: Pick<Config, 'EVENTSTORE_URL'>, log: (message: string) => void) =>
  'file' in at ? openSqliteReader(at.file) : openRemoteToCopy({ url: at.url, log, own: isOwnStream });

/** Exports the log that the settings name, also while a service writes to it. */
export const exportFile = async (config: Config, signal: AbortSignal, choices: Choices = {}): Promise<void> => {
  const { skipIncomplete = false, output = process.stdout, messages = process.stderr } = choices;
  const { EVENTSTORE_URL: at } = config;
  const key = keysAtHand(auditKeySource(config))?.own;
  const say = (line: string): void => void messages.write(`${line}\n`);
  const log = await open(config, say);
  const progress = progressLine(messages);
  try {
    const head = await log.head();
    const end = await exportLog(
      {
        log,
        own: isOwnStream,
        skipped: skipIncomplete ? await incompleteStreams(log, isOwnStream) : new Set(),
        accepted: 'file' in at ? acceptedSums(at.file) : new Map(),
        key,
        now: () => new Date(),
        told: ({ events, position }) => {
          signal.throwIfAborted();
          progress.show(() => `${Math.floor((100 * position) / head)} % (${events} events)`);
        },
      },
      writerTo(output),
    );
    progress.end();
    const signed = key
      ? `signed by the key ${fingerprintOf(key.key)}`
      : 'not signed, because no signing key is at hand';
    say(`${end.events} events exported; the export is ${signed}`);
    say('Secrets in it open with the SECRET_KEY or secret.key of the service that it is from');
  } finally {
    progress.end();
    await log.close();
  }
};
