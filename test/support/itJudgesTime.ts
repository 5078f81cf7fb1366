/** A test that judges time, processor time or memory: the machine must do nothing else, so only `npm run soak` runs it. */
export const itJudgesTime = (title: string, test: (this: Mocha.Context) => void | Promise<void>): void => {
  if (process.env.SOAK_ROUNDS) it(title, test as Mocha.AsyncFunc);
};
