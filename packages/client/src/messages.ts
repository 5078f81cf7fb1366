// A terminal obeys control characters; signs of direction and without width make a text look like another.
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text that does nothing but show itself. */
export const plainText = (text: string): string => text.replace(unseen, ' ');

const mostWords = 1000;

/** Words of another program as one line of a sensible length. */
export const wordsIn = (text: string): string => {
  const line = plainText(text.slice(0, mostWords + 1)).replaceAll('\n', ' ');
  return line.length > mostWords ? `${line.slice(0, mostWords)}…` : line;
};

/** The message in the body of a refusal. */
export const messageIn = (text: string, status: number): string => {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return wordsIn(message);
  } catch {
    // Another program has answered.
  }
  return `The platform answers with status ${status}`;
};
