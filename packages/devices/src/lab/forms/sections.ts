import { ciscoWords, merge, type Print, parse, print, type TopWords } from '../../texts/sections.ts';
import type { DeviceType } from '../../types/type.ts';
import { answerTo, type ShowWords } from '../commands.ts';
import { factsOf, type LabFacts } from '../facts.ts';
import { isOfMode, type LabForm } from './form.ts';

/** The facts about a type whose configuration has sections by indentation. */
type Sections = {
  readonly type: DeviceType;
  readonly words?: TopWords;
  /** The words before a line that undo it. */
  readonly undo?: RegExp;
  /** As Cisco IOS unless given. */
  readonly print?: Print;
  readonly initial: (facts: LabFacts) => readonly string[];
  readonly shows: ShowWords;
  /** The end of its file's name, where its memory cannot be read in Cisco's words. */
  readonly file?: string;
};

export const sectionsForm = (facts: Sections): LabForm => {
  const { type, words = ciscoWords, undo = /^no /, shows } = facts;
  const skips = (line: string): boolean => line.startsWith('!') || type.comment.test(line) || isOfMode(line, type);
  const read = (text: string) => parse(text, { words, undo, skips });
  return {
    file: facts.file ?? '',
    refusal: () => shows.refusal,
    initial: (device) => print(read(facts.initial(factsOf(device)).join('\n')).sections, facts.print),
    take: (memory, config) => {
      const { sections, refused } = read(config);
      return { memory: print(merge(read(memory).sections, sections, type.undo ?? []), facts.print), refused };
    },
    show: (memory) => print(read(memory).sections, facts.print),
    answer: (command, { device, memory, up }) =>
      answerTo(command, { device, sections: read(memory).sections, up, words: shows, print: facts.print }),
  };
};
