import { type Static, Type } from 'typebox';
import type { Context } from './core.ts';

/** ISO 8601 in a form that every parser accepts: capital T and Z, no leap seconds. */
export const time = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
    description,
  });
const author = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** Times and authors of a document: of its creation and of its last change. All are optional in imported documents. */
export const authored = {
  created: Type.Optional(time('When it was made')),
  createdBy: Type.Optional(author('The account that created it')),
  lastUpdated: Type.Optional(time('When it was last changed')),
  lastUpdatedBy: Type.Optional(author('The account that changed it last')),
};

/** A user in a document of another installation: a username, or an object that has one. */
const person = (description: string) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Null(), Type.Object({ username: Type.String() }, { additionalProperties: true })], {
      description,
    }),
  );
export type Person = string | null | { readonly username: string };

/** Like `authored`, in an imported document. */
export const authoredByPeople = {
  ...authored,
  createdBy: person('The account that created it: a username, or an object that has one'),
  lastUpdatedBy: person('The account that changed it last, likewise'),
};

/** The username of a person. */
export const usernameOf = (person: Person | undefined): string | null | undefined =>
  typeof person === 'object' && person !== null ? person.username : person;

/** The id of a document: 24 hexadecimal digits. */
export const objectId = (description: string) => Type.String({ pattern: '^[0-9a-f]{24}$', description });

/** Times in UTC with milliseconds. Authors are account ids; a text that is no account's id stays as it is. */
export type Authored = {
  readonly created: string;
  readonly createdBy: string | null;
  readonly lastUpdated: string;
  readonly lastUpdatedBy: string | null;
};

/** The members that say who made and last changed a document, and when. */
export const signatureMembers = ['created', 'createdBy', 'lastUpdated', 'lastUpdatedBy'] as const;

/** Times and authors of a resource, as its read model has them. */
export type Signature = { readonly [member in (typeof signatureMembers)[number]]?: unknown };

/** The data about authors that the decision of an import needs. */
export type ImportAuthors = {
  /** Account ids by username. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Those of the existing resource, for an import that may replace them. */
  readonly signature?: Signature | undefined;
};

/** True if the document says this member of a signature in our own words: authors are usernames. */
export const isSigned = (
  document: Signature,
  member: keyof Signature,
  { accounts, signature = {} }: ImportAuthors,
): boolean => {
  const authorText = document[member];
  const id =
    member.endsWith('By') && typeof authorText === 'string' && Object.hasOwn(accounts, authorText)
      ? accounts[authorText]
      : authorText;
  return id !== undefined && id === signature[member];
};

const schema = Type.Object(authoredByPeople);

/**
 * The authors and times of an imported document. Usernames become account ids (`accounts`: ids by username). Missing
 * authors become the actor, missing times now.
 */
export const authorsOf = (
  document: Static<typeof schema>,
  accounts: Readonly<Record<string, string>>,
  { now, actor }: Context,
): Authored => {
  const who = (person: Person | undefined) => {
    const name = usernameOf(person);
    return name != null && Object.hasOwn(accounts, name) ? accounts[name] : name;
  };
  const when = (time: string | undefined) => (time === undefined ? now : new Date(time).toISOString());
  const { createdBy = actor.id, lastUpdatedBy = actor.id } = {
    createdBy: who(document.createdBy),
    lastUpdatedBy: who(document.lastUpdatedBy),
  };
  return {
    created: when(document.created),
    createdBy,
    lastUpdated: when(document.lastUpdated ?? document.created),
    lastUpdatedBy,
  };
};
