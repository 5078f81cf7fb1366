import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { parse } from 'csv-parse';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Refuse, SourceNode } from './port.ts';

type Row = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

/** The names of the columns, each once. */
const columnsOf = (names: readonly string[], refuse: Refuse): readonly string[] => {
  if (!names.includes('name')) return refuse('The first line must name the columns, and one of them is name');
  const twice = names.find((one, at) => one !== '' && names.indexOf(one) !== at);
  return twice === undefined ? names : refuse(`The column ${JSON.stringify(twice)} is there more than once`);
};

const piece = 64 * 1024;

/** The text in pieces. Other work has its turn between them. */
const pieces = async function* (text: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) {
    yield bytes.subarray(at, at + piece);
    await setImmediate();
  }
};

const tagsIn = (cell: string): string[] =>
  cell
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

/**
 * The nodes of a text of RFC 4180 with a line of headers: `name`, `tags` (separated by `;`), and attributes. Empty cells are
 * none. Refuses a text with the line of the first fault. Other work goes on meanwhile.
 */
export const csvNodes = async (text: string, refuse: Refuse): Promise<readonly SourceNode[]> => {
  const parser = Readable.from(pieces(text)).pipe(parse({ bom: true, info: true, skip_empty_lines: true }));
  const nodes: SourceNode[] = [];
  let columns: readonly string[] | undefined;
  try {
    for await (const { record, info } of parser as AsyncIterable<Row>) {
      if (!columns) {
        columns = columnsOf(record, refuse);
        continue;
      }
      const cells = new Map(columns.map((column, at) => [column, record[at] ?? '']));
      const name = cells.get('name') ?? '';
      if (name === '') return refuse(`Line ${info.lines}: the name is empty`);
      const attributes = [...cells].filter(([column, cell]) => cell !== '' && !['', 'name', 'tags'].includes(column));
      nodes.push({ name, attributes: Object.fromEntries(attributes), tags: tagsIn(cells.get('tags') ?? '') });
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    return refuse(`It is no CSV: ${(error as Error).message}`);
  }
  return columns ? nodes : refuse('It has no line');
};
