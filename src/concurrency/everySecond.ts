const keepMs = 1000;

/** Does the work once a second, unless it still goes on. */
export const everySecond = (work: () => Promise<void>, onFailure: (error: unknown) => void) => {
  let atWork: Promise<void> | undefined;
  const timer = setInterval(() => {
    atWork ??= work()
      .catch(onFailure)
      .finally(() => {
        atWork = undefined;
      });
  }, keepMs);
  return {
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await atWork;
    },
  };
};
