import { keysInPem, newKey, type SigningKey, type SigningKeys } from '@automation-platform/log-proof';
import { makeKeyFile, textIn } from './keyFile.ts';

/** The key of the setting AUDIT_KEY, and the file that is used without the setting. */
export type KeySource = { readonly fromSetting: readonly SigningKey[] | undefined; readonly file: string };

const keysInFile = (file: string, text: string): readonly SigningKey[] => {
  try {
    return keysInPem(text);
  } catch (error) {
    throw new Error(`${file} ${(error as Error).message}`, { cause: error });
  }
};

/** The keys that are at hand; undefined if there are none. A key file beside the setting is an earlier key. */
export const keysAtHand = ({ fromSetting, file }: KeySource): SigningKeys | undefined => {
  const text = textIn(file);
  const [own, ...earlier] = [...(fromSetting ?? []), ...(text === undefined ? [] : keysInFile(file, text))];
  return own && { own, earlier };
};

/** The keys that are at hand. A missing key file is made if there is no setting. */
export const keysOrNew = (source: KeySource): SigningKeys => {
  const found = keysAtHand(source);
  if (found) return found;
  const [own, ...earlier] = keysInFile(source.file, makeKeyFile(source.file, newKey()));
  if (!own) throw new Error(`${source.file} has no key`);
  return { own, earlier };
};
