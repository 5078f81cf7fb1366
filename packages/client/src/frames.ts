import { counter } from './answers.ts';

const mostFrame = 64 * 1024 * 1024;

/** One frame of a stream of server-sent events. A comment is a frame as well. */
export type Frame = {
  readonly event: string | undefined;
  readonly data: string | undefined;
  readonly comment: string | undefined;
};

/**
 * Makes the function that finds the frames in the pieces of a stream. The rest of a frame that is cut off is never
 * given out. Throws `TooLong` when a frame has no end.
 */
export const frameReader = () => {
  let pieces: string[] = [];
  let event: string | undefined;
  let data: string[] = [];
  let comment: string | undefined;
  let count = counter(mostFrame, 'an event');

  const field = (line: string): void => {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const rest = colon < 0 ? '' : line.slice(colon + 1);
    const value = rest.startsWith(' ') ? rest.slice(1) : rest;
    if (name === '') comment = value;
    else if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
  };

  const frame = (): Frame => {
    const found = { event, data: data.length > 0 ? data.join('\n') : undefined, comment };
    event = undefined;
    data = [];
    comment = undefined;
    count = counter(mostFrame, 'an event');
    return found;
  };

  return (piece: string): readonly Frame[] => {
    const frames: Frame[] = [];
    const lines = piece.split('\n');
    const last = lines.pop() ?? '';
    for (const end of lines) {
      count(end.length);
      const line = (pieces.length > 0 ? pieces.join('') + end : end).replace(/\r$/, '');
      pieces = [];
      if (line === '') frames.push(frame());
      else field(line);
    }
    if (last !== '') {
      count(last.length);
      pieces.push(last);
    }
    return frames;
  };
};
