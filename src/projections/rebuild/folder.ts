import { once } from 'node:events';
import { startWorker } from '../../process/startWorker.ts';
import type { FoldAnswer, Folded, FoldWork, Question } from './foldWorker.ts';

/** A fold of the log in a thread of its own. One question at a time. */
export type Folder = {
  readonly foldTo: (position: number) => Promise<void>;
  /** All documents, some at a time. The next ones are got while these are looked at. */
  readonly all: () => AsyncGenerator<readonly Folded[]>;
  readonly these: (ids: readonly (readonly [collection: string, id: string])[]) => Promise<readonly Folded[]>;
  readonly counts: () => Promise<Readonly<Record<string, number>>>;
  readonly stop: () => Promise<void>;
};

// So few that their comparison holds up nobody.
const documentsAtOnce = 200;

/** Begins to fold a log from its beginning. */
export const startFolder = (work: FoldWork): Folder => {
  const worker = startWorker('projections/rebuild/foldWorker', work);
  const ended = once(worker, 'exit').then(
    (): FoldAnswer => ({ failed: 'the fold was stopped' }),
    (error: unknown): FoldAnswer => ({ failed: String(error) }),
  );

  const ask = async (question: Question): Promise<Exclude<FoldAnswer, { failed: string }>> => {
    const answered = once(worker, 'message').then(([answer]) => answer as FoldAnswer);
    worker.postMessage(question);
    const answer = await Promise.race([answered.catch(() => ended), ended]);
    if ('failed' in answer) throw new Error(`The log cannot be folded: ${answer.failed}`);
    return answer;
  };
  const documents = async (question: Question): Promise<readonly Folded[]> => {
    const answer = await ask(question);
    return 'documents' in answer ? answer.documents : [];
  };

  return {
    foldTo: async (position) => {
      await ask({ foldTo: position });
    },
    all: async function* () {
      let coming = documents({ next: documentsAtOnce });
      for (;;) {
        const some = await coming;
        if (some.length === 0) return;
        coming = documents({ next: documentsAtOnce });
        // A caller that stops here does not hear of a failure any more.
        coming.catch(() => undefined);
        yield some;
      }
    },
    these: (ids) => documents({ these: ids }),
    counts: async () => {
      const answer = await ask({ count: true });
      return 'counts' in answer ? answer.counts : {};
    },
    stop: async () => {
      await worker.terminate();
    },
  };
};
