import type { Run } from '../values/values.ts';
import { escaped, isBreak } from './scalars.ts';

/** Where an indicator stands: with a space before it, as a space itself, as a part of the indentation. */
type Place = { readonly apart?: boolean; readonly blank?: boolean; readonly indents?: boolean };

/** Writes the text of a document, and knows where in its line it is: libyaml's rules for lines and spaces. */
export const newWriter = (run: Run, step: number, width: number) => {
  const parts: string[] = [];
  const indents: number[] = [];
  let size = 0;
  let indent = -1;
  let column = 0;
  let blank = true;
  let indented = true;

  const put = (text: string, columns = 1): void => {
    run.budget.make(text.length);
    size += text.length;
    run.budget.fits(size);
    parts.push(text);
    column += columns;
  };
  const breakLine = (character = '\n'): void => {
    put(character, 0);
    column = 0;
  };
  const writeIndent = (): void => {
    const indentWidth = Math.max(indent, 0);
    if (!indented || column > indentWidth || (column === indentWidth && !blank)) breakLine();
    if (column < indentWidth) put(' '.repeat(indentWidth - column), indentWidth - column);
    blank = true;
    indented = true;
  };
  const indicator = (text: string, place: Place = {}): void => {
    if (place.apart && !blank) put(' ');
    put(text, text.length);
    blank = place.blank ?? false;
    indented &&= place.indents ?? false;
  };
  const folds = (characters: readonly string[], i: number, afterSpace: boolean): boolean =>
    !afterSpace && column > width && i > 0 && i < characters.length - 1;

  const plain = (text: string, mayFold: boolean, inFlow: boolean): void => {
    if (!blank && (text !== '' || inFlow)) put(' ');
    const characters = [...text];
    let spaces = false;
    characters.forEach((character, i) => {
      if (character === ' ') {
        if (mayFold && !spaces && column > width && characters[i + 1] !== ' ') writeIndent();
        else put(character);
        spaces = true;
        return;
      }
      put(character);
      indented = false;
      spaces = false;
    });
    blank = false;
    indented = false;
  };

  const singleQuoted = (text: string, mayFold: boolean): void => {
    indicator("'", { apart: true });
    const characters = [...text];
    let spaces = false;
    let breaks = false;
    characters.forEach((character, i) => {
      if (character === ' ') {
        if (mayFold && folds(characters, i, spaces) && characters[i + 1] !== ' ') writeIndent();
        else put(character);
        spaces = true;
      } else if (isBreak(character)) {
        if (!breaks && character === '\n') breakLine();
        breakLine(character);
        indented = true;
        breaks = true;
      } else {
        if (breaks) writeIndent();
        put(character === "'" ? "''" : character, character === "'" ? 2 : 1);
        indented = false;
        spaces = false;
        breaks = false;
      }
    });
    if (breaks) writeIndent();
    indicator("'");
    blank = false;
    indented = false;
  };

  const doubleQuoted = (text: string, mayFold: boolean): void => {
    indicator('"', { apart: true });
    const characters = [...text];
    let spaces = false;
    characters.forEach((character, i) => {
      if (character === ' ' && mayFold && folds(characters, i, spaces)) {
        writeIndent();
        if (characters[i + 1] === ' ') put('\\');
      } else {
        const escapedCharacter = escaped(character);
        put(escapedCharacter, [...escapedCharacter].length);
      }
      spaces = character === ' ';
    });
    indicator('"');
    blank = false;
    indented = false;
  };

  return {
    writeIndent,
    indicator,
    plain,
    singleQuoted,
    doubleQuoted,
    isLong: () => column > width,
    /** True if the line has nothing but indentation so far. */
    isIndented: () => indented,
    /** Lines that are written meanwhile are indented by one step more. */
    deeper: (work: () => void, { flow = false, same = false } = {}): void => {
      indents.push(indent);
      if (indent < 0) indent = flow ? step : 0;
      else if (!same) indent += step;
      work();
      indent = indents.pop() ?? -1;
    },
    text: () => parts.join(''),
  };
};

export type Writer = ReturnType<typeof newWriter>;
