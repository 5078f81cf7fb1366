import { RequestError } from '../../domain/engine/requestError.ts';
import type { AppNeeds } from './appNeeds.ts';
import { refused } from './fixedAnswers.ts';
import type { Outgoing } from './outgoing.ts';

const late = (ms: number): Outgoing => {
  const message =
    `No answer within ${ms} ms. A change may be carried out all the same: ` +
    'send it again with the same Idempotency-Key to be sure';
  // The rest of the body is not read, so the connection must close.
  return refused(new RequestError('unavailable', message), { Connection: 'close' });
};

/**
 * Returns the work's answer, or 503 if the work takes longer than `ms`. The work goes on then; of its later errors only
 * bugs are logged.
 */
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
