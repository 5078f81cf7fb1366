const day = 86_400_000;

/** The clocks of the machine, but late by a number of days. Fewer days let time pass. */
export const lateClocks = (days: number) => {
  let late = days * day;
  return {
    now: () => Date.now() - late,
    monotonic: () => performance.now() - late,
    setDays: (days: number): void => {
      late = days * day;
    },
  };
};
