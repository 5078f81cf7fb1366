/** Why a text is no JSON; undefined if it is. The reason repeats nothing of the text. */
export const jsonFault = (text: string): string | undefined => {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return 'It is no JSON.';
  }
};
