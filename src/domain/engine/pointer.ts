/** One step of a JSON pointer (RFC 6901), escaped. Long member names are cut after 256 characters. */
export const step = (key: string | number): string => {
  const text = String(key);
  const shown = text.length > 256 ? `${text.slice(0, 256)}…` : text;
  return `/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}`;
};
