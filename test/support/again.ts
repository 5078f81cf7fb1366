import type { Answer } from './service.ts';

/** Asks again while the answer is 503: reads of earlier times may need longer than a request waits, and then go on. */
export const again = async (ask: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
};
