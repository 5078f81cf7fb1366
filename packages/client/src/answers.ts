import { messageIn } from './messages.ts';

/** The other side sends more than a platform does. */
export class TooLong extends Error {}

// A piece takes memory besides its bytes.
const pieceBytes = 64;
const mostAnswer = 128 * 1024 * 1024;
const mostRefusal = 64 * 1024;

/** Counts what the other side sends. The function throws when that is more than `most` bytes. */
export const counter = (most: number, what: string): ((bytes: number) => void) => {
  let sum = 0;
  return (bytes) => {
    sum += bytes + pieceBytes;
    if (sum > most) throw new TooLong(`The platform sends ${what} of more than ${most / 1024 / 1024} MiB`);
  };
};

/** The text of an answer. Throws `TooLong` instead of taking in whatever comes. */
export const textOf = async (answer: Response, most: number = mostAnswer): Promise<string> => {
  const count = counter(most, 'an answer');
  const reader = answer.body?.getReader();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const pieces: string[] = [];
  try {
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
      count(piece.value.length);
      pieces.push(decoder.decode(piece.value, { stream: true }));
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  return pieces.join('') + decoder.decode();
};

/** The text of an answer that is a refusal; empty where it does not come. */
export const textOfRefusal = (answer: Response): Promise<string> => textOf(answer, mostRefusal).catch(() => '');

/** The message of an answer that is a refusal. */
export const refusalIn = async (answer: Response): Promise<string> =>
  messageIn(await textOfRefusal(answer), answer.status);

/** The object in the text of an answer; undefined if it is none. */
export const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
};
