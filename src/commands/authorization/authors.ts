import { type ImportAuthors, type Person, usernameOf } from '../../domain/engine/authors.ts';
import type { Aggregate } from '../../domain/engine/core.ts';
import { accounts, formerAccounts } from '../../projections/authorization/accounts.ts';
import type { Tools } from '../engine/define.ts';

type Authors = { readonly createdBy?: Person; readonly lastUpdatedBy?: Person };

type Importing = {
  readonly aggregate: Aggregate;
  readonly id: string;
  /** The documents that have authors. */
  readonly documents: readonly Authors[];
  readonly overwrite?: boolean | undefined;
};

/** The authors that the decision of an import into the resource with the id needs. */
export const importAuthors = async (
  { aggregate, id, documents, overwrite = false }: Importing,
  tools: Tools,
): Promise<ImportAuthors> => ({
  accounts: await accountIds(documents, tools),
  signature: overwrite ? await tools.signature(aggregate, id) : undefined,
});

/**
 * The ids of the accounts that documents name as authors, by username. The present account of a name counts before a
 * deleted one. Ambiguous usernames are left out.
 */
export const accountIds = async (
  documents: readonly Authors[],
  { query }: Tools,
): Promise<Readonly<Record<string, string>>> => {
  const names = [
    ...new Set(
      documents.flatMap(({ createdBy, lastUpdatedBy }) =>
        [usernameOf(createdBy), usernameOf(lastUpdatedBy)].filter((name) => name != null),
      ),
    ),
  ];
  if (names.length === 0) return {};
  const present = await query(accounts, { any: names.map((value) => ({ field: 'username', op: 'equals', value })) });
  const others = names.filter((name) => !present.some(({ username }) => username === name));
  const former =
    others.length === 0
      ? []
      : await query(formerAccounts, { any: others.map((value) => ({ field: 'deletedName', op: 'equals', value })) });
  return Object.fromEntries(
    names.flatMap((name) => {
      const [account, ...namesakes] = [...present, ...former].filter(({ username }) => username === name);
      return account && namesakes.length === 0 ? [[name, account._id]] : [];
    }),
  );
};
