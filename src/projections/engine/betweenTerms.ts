import { RequestError } from '../../domain/engine/requestError.ts';

/** A place between two terms of projecting, where nothing is projected. `endTerm` ends the term. */
export const betweenTerms = (endTerm: () => void) => {
  let asked: { readonly run: () => Promise<void>; readonly refuse: () => void } | undefined;
  return {
    /** Does the work that was asked for, if any. */
    run: async (): Promise<void> => {
      const work = asked;
      asked = undefined;
      await work?.run();
    },
    /** Ends the term, and resolves when the work is done. */
    ask: (work: () => Promise<void>): Promise<void> =>
      new Promise((resolve, reject) => {
        asked = {
          run: () => work().then(resolve, reject),
          refuse: () =>
            reject(new RequestError('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 })),
        };
        endTerm();
      }),
    /** Nothing is projected any more. */
    refuse: (): void => asked?.refuse(),
  };
};
