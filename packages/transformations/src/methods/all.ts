import type { Method } from '../signatures.ts';
import { data } from './data.ts';
import { dates } from './dates.ts';
import { declarations } from './declarations.ts';
import { lists } from './lists.ts';
import { logic } from './logic.ts';
import { numbers } from './numbers.ts';
import { objects } from './objects.ts';
import { texts } from './texts.ts';

/** All methods and declarations by `Library.method`. */
export const methods: ReadonlyMap<string, Method> = new Map(
  [lists, texts, objects, numbers, logic, dates, data, declarations].flatMap((rows) => Object.entries(rows)),
);
