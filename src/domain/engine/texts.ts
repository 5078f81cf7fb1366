/** The text, or its beginning and an ellipsis if it has more than so many characters. No surrogate pair is split. */
export const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text;
