import { isObject, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import type { Call } from '../engine/route.ts';
import type { Page } from './leading.ts';

/** Documents as the rows of `/automation-studio` and their neighbours answer them. */

export const document = (description: string) =>
  Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description }));

/** The page with where it begins and ends, and the addresses of its neighbours. */
export const items = ({ documents, skip, limit, total }: Page, { path }: Call): Members => {
  const end = skip + documents.length;
  const at = (from: number): string => `${path}?skip=${from}&limit=${limit}`;
  return {
    items: documents,
    skip,
    limit,
    total,
    count: documents.length,
    start: skip,
    end,
    next: end < total && documents.length > 0 ? at(end) : null,
    previous: skip > 0 ? at(Math.max(skip - limit, 0)) : null,
  };
};

const pageMember = (description: string) => Type.Integer({ description });
const address = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** Schema of `items`. */
export const itemsAnswer = (one: ReturnType<typeof document>) =>
  Type.Object({
    items: Type.Array(one),
    skip: pageMember('How many documents were left out'),
    limit: pageMember('How many documents a page has at most'),
    total: pageMember('How many documents fit the filters'),
    count: pageMember('How many documents the page has'),
    start: pageMember('The place of the first'),
    end: pageMember('The place after the last'),
    next: address('Address of the next page; null if this is the last'),
    previous: address('Address of the page before; null if this is the first'),
  });

/** Imported documents, each as it is answered beside the one that was sent. `member` of the body has those. */
export const importedAs =
  (noun: string, member: string) =>
  ({ data }: Members, { body }: Call): Members => {
    const documents = (body as Members)[member] as readonly unknown[];
    return {
      imported: (data as readonly Members[]).map(({ success, data: about }, i) =>
        success === true
          ? { success, message: `Successfully imported ${noun}`, original: documents[i], created: about }
          : { success, message: isObject(about) ? about.message : '', original: documents[i], created: null },
      ),
    };
  };

/** Schema of the same. */
export const importedAnswer = (one: ReturnType<typeof document>) =>
  Type.Object({
    imported: Type.Array(
      Type.Object({
        success: Type.Boolean(),
        message: Type.String(),
        original: document('The document that was sent'),
        created: Type.Union([one, Type.Null()]),
      }),
    ),
  });
