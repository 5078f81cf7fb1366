/** Says why a golden text or a configuration cannot be read. `line` is the number of the line in the text, from 1. */
export class TextFault extends Error {
  readonly line: number;

  constructor(reason: string, line = 1) {
    super(reason);
    this.name = 'TextFault';
    this.line = line;
  }
}
