import { account, forgottenName as forgotten } from '../../domain/authorization/accounts.ts';
import { denied } from '../../domain/authorization/requestRecords.ts';
import { prebuilt } from '../../domain/prebuilts/prebuilts.ts';
import { type Metadata, splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';

/** An account that is forgotten, and all usernames that it ever had. */
export type Forgotten = { readonly id: string; readonly usernames: ReadonlySet<string> };

type Members = Readonly<Record<string, unknown>>;

const personal: ReadonlySet<string> = new Set(['username', 'firstname', 'email', 'name']);

/** The data of the account's own stream. Where a claim on a username lapsed, that is its `name`. */
const ownData = (data: string): string => {
  const members = Object.entries(JSON.parse(data) as Members);
  const left = members.map(([name, value]) => [name, personal.has(name) && value !== '' ? forgotten : value]);
  return JSON.stringify(Object.fromEntries(left));
};

/** Denials that do not say who was refused. */
const denials = (data: string, id: string): string => {
  const { rows, ...rest } = JSON.parse(data) as { readonly rows: readonly Members[] };
  const left = rows.map((row) => (row.account === id ? { ...row, account: forgotten, address: forgotten } : row));
  return JSON.stringify({ rows: left, ...rest });
};

/** A package whose authors name the account by its usernames. Numbers in it stay as they were written. */
const packageText = (text: string, { id, usernames }: Forgotten): string => {
  const value = JSON.stringify(id);
  let left = text;
  for (const username of usernames)
    left = left.replaceAll(`${JSON.stringify(username)}:${value}`, `${JSON.stringify(forgotten)}:${value}`);
  return left;
};

/** Whether the data of a stream's events may name the account. */
export const mayName = (stream: string, { id }: Forgotten): boolean =>
  stream === `account-${id}` || [denied.category, prebuilt.category].includes(splitStream(stream).category);

/** The whole data of an event without the account's names. */
export const dataWithout = ({ stream, data }: Pick<StoredEvent, 'stream' | 'data'>, about: Forgotten): string => {
  const { category, id } = splitStream(stream);
  if (category === account.category) return id === about.id ? ownData(data) : data;
  if (!data.includes(about.id)) return data;
  if (category === denied.category) return denials(data, about.id);
  return category === prebuilt.category ? packageText(data, about) : data;
};

/** Metadata, without their link, that do not name the account as the actor. */
export const metadataWithout = (metadata: string, { id }: Forgotten): string => {
  if (!metadata.includes(id)) return metadata;
  const about = JSON.parse(metadata) as Metadata;
  if (about.actor?.id !== id) return metadata;
  return JSON.stringify({ ...about, actor: { ...about.actor, username: forgotten } });
};
