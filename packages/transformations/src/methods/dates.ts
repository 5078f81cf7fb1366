import { fail } from '../budget.ts';
import { type Method, method } from '../signatures.ts';

const parts = [
  'getDate',
  'getDay',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
  'getTime',
  'valueOf',
] as const;
const forms = ['toDateString', 'toString', 'toTimeString', 'toUTCString'] as const;

const rowsOf = (names: readonly ((typeof parts)[number] | (typeof forms)[number])[], gives: string) =>
  Object.fromEntries(
    names.map((name) => [`Date.${name}`, method(`date: date -> ${gives}`, (_, date: Date) => date[name]())]),
  );

/** In the zone of the process. */
export const dates: Readonly<Record<string, Method>> = {
  ...rowsOf(parts, 'number'),
  ...rowsOf(forms, 'text'),
  'Date.now': method(' -> number', ({ now }) => now),
  'Date.parse': method('text: text -> number', (_, text: string) => Date.parse(text)),
  'Date.toISOString': method('date: date -> text', (_, date: Date) =>
    Number.isNaN(date.getTime()) ? fail('date: it is none') : date.toISOString(),
  ),
};
