/**
 * A test that only `npm run soak` runs: it judges time, processor time or memory, for which the machine must do nothing
 * else, or it takes minutes.
 */
export const itInSoak = (title: string, test: (this: Mocha.Context) => void | Promise<void>): void => {
  if (process.env.SOAK_ROUNDS) it(title, test as Mocha.AsyncFunc);
};
