/** The value of `--from`; undefined if it is none. */
export const fromIn = (text: string): 'start' | 'now' | number | undefined => {
  if (text === 'start' || text === 'now') return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};
