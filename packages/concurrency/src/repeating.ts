/** Does the work every second, or every `everyMs`, unless it still goes on. */
export const repeating = (work: () => Promise<void>, onFailure: (error: unknown) => void, everyMs = 1000) => {
  let atWork: Promise<void> | undefined;
  const timer = setInterval(() => {
    atWork ??= work()
      .catch(onFailure)
      .finally(() => {
        atWork = undefined;
      });
  }, everyMs);
  return {
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await atWork;
    },
  };
};
