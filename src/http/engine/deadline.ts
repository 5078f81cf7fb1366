import { RequestError } from '../../domain/engine/requestError.ts';
import type { AppNeeds } from './appNeeds.ts';
import { refused } from './fixedAnswers.ts';
import type { Outgoing } from './outgoing.ts';

const late = (ms: number): Outgoing => {
  const message =
    `No answer within ${ms} ms. A change may be carried out all the same: ` +
    'send it again with the same Idempotency-Key to be sure';
  // What is left of the body is not read.
  return refused(new RequestError('unavailable', message), { Connection: 'close' });
};

/** The work's outcome, or 503 if it takes longer: it goes on all the same, and nobody is told its end. */
export const deadline =
  (logBug: AppNeeds['logBug']) =>
  async (ms: number, work: Promise<Outgoing>, requestId: string): Promise<Outgoing> => {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<Outgoing>((resolve) => {
      timer = setTimeout(() => {
        work.catch((error: unknown) => {
          if (!(error instanceof RequestError)) logBug(error, requestId);
        });
        resolve(late(ms));
      }, ms);
    });
    return Promise.race([work, over]).finally(() => clearTimeout(timer));
  };
