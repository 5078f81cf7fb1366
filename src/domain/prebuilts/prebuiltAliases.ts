import { exactEntries, inOrder, isObject, type Members } from '@automation-platform/json';
import { isMembers } from '../engine/exactMembers.ts';

/*
 * The names that other products give to what a package says. This is the only place that knows them. An export uses our
 * names, or those of the import with `as=imported`.
 */

type Alias = { readonly theirs: RegExp; readonly ours: string; readonly fits: (value: unknown) => boolean };

/** Members of `metadata`: their names and ours. A member whose value ours could not have is not the same. */
const metadataNames: readonly Alias[] = [
  { theirs: /^[A-Za-z0-9]+Dependencies$/, ours: 'PlatformDependencies', fits: isMembers },
  { theirs: /^(?:gitlab|github|bitbucket)Id$/, ours: 'hostedGitId', fits: Number.isSafeInteger },
];

/** Values of `metadata.repository.type`. */
const repositoryTypes: Readonly<Record<string, string>> = {
  gitlab: 'hosted_git',
  github: 'hosted_git',
  bitbucket: 'hosted_git',
};

/** The package with our names in its metadata. */
export const inOurNames = <P extends { readonly metadata: object }>(prebuilt: P): P => {
  const metadata = withOurRepository(withOurMembers(prebuilt.metadata as Members));
  return metadata === prebuilt.metadata ? prebuilt : { ...prebuilt, metadata };
};

/** Renames members. A member stays if ours is there, too, or if several stand for the same one. */
const withOurMembers = (metadata: Members): Members => {
  const names = new Map<string, string>();
  for (const { theirs, ours, fits } of metadataNames) {
    const [name, ...others] = Object.keys(metadata).filter(
      (one) => one !== ours && theirs.test(one) && fits(metadata[one]),
    );
    if (name !== undefined && others.length === 0 && !Object.hasOwn(metadata, ours)) names.set(name, ours);
  }
  if (names.size === 0) return metadata;
  return inOrder(exactEntries(metadata).map(([name, member]) => [names.get(name) ?? name, member]));
};

const withOurRepository = (metadata: Members): Members => {
  const { repository } = metadata;
  if (!isObject(repository) || typeof repository.type !== 'string') return metadata;
  const type = Object.hasOwn(repositoryTypes, repository.type) ? repositoryTypes[repository.type] : undefined;
  return type === undefined ? metadata : { ...metadata, repository: { ...repository, type } };
};
