import { escaped, withoutMarks } from './words.ts';

const mask = '********';

const either = (words: string): string => `(?:${words.trim().split(/\s+/).join('|')})`;
/** One of the words, in any case. */
const oneOf = (words: string): RegExp => new RegExp(`^${either(words)}$`, 'i');

/** The ends of words after which a secret comes, of all device types. Masking too much is right. */
const anyEnds = 'password passwd passphrase secret psk';
const dashedEnds = String.raw`
  pwd passcode key key-string key-hash key-hexadecimal community(?:-\w+)? token
  auth priv authentication md5 sha sha-?\d+ aes 3?des
`;
const whole = String.raw`phash cipher enc v?2c ssh-(?:rsa|dss|ed25519) ecdsa-sha2-\S+`;
const announcing = oneOf(`.*${either(anyEnds)} (?:.*-)?${either(dashedEnds)} ${whole}`);
/** Words that say of what kind the secret is. They stay, and so do small numbers. */
const ofKind = oneOf(String.raw`
  \d{1,2} 128 192 256 encrypted ascii ascii-text hexadecimal hex text mode plain plain-?text clear cleartext simple
  irreversible-cipher hash hashed local remote read write localized localizedkey scrypt pbkdf2 bcrypt type
  hmac-\S+ aes-?\d+ sha\S*
`);
/** `name=value`, as RouterOS writes. */
const assigned = /^([\w.-]*?)=(.+)$/s;
/** A word that looks like a hashed password, or like a piece of a key. */
const hashedOrKey = /^"?\$\w{1,4}\$|^"?[0-9A-Za-z+/=]{40,}"?$/;

/** Finds all lines with words that announce or are secrets, and few that do not. */
const mayShowSecret = new RegExp(
  `${either(`${anyEnds} ${dashedEnds} ${whole}`)}(?![^ \\t\\n\\0=])|\\$\\w{1,4}\\$|[0-9A-Za-z+/=]{40}|snmp-server[ \\t\\0]+host`,
  'i',
);
/** False for lines of which `masking([])` masks nothing: most of them. It takes a hundredth of the time. */
export const mayBeMasked = (line: string): boolean => mayShowSecret.test(line);

const ofHost = /^(?:traps?|informs?|version|[123]|2c|auth|noauth|priv)$/;

/** The place of the community that a host of SNMP gets; -1 in other lines. */
const communityOfHost = (words: readonly string[]): number =>
  words[0] === 'snmp-server' && words[1] === 'host' ? words.findIndex((word, i) => i > 2 && !ofHost.test(word)) : -1;

/** Says what may be authenticated; it is followed by no secret. */
const isList = (words: readonly string[], word: string): boolean => words[0] === 'aaa' && word === 'authentication';

/** The places of the secrets that words announce: the last word if all say of what kind the secret is. */
const announcedIn = (words: readonly string[]): readonly number[] => {
  const places: number[] = [];
  let place = words.length;
  for (let i = words.length - 1; i >= 0; i--) {
    const word = words[i] ?? '';
    const announces = announcing.test(word);
    if (announces && !isList(words, word)) places.push(place);
    if (i === words.length - 1 || !(announces || ofKind.test(word))) place = i;
  }
  return places;
};

const maskedWord = (word: string): string => {
  const [, name = '', value] = assigned.exec(word) ?? [];
  if (value !== undefined && announcing.test(name)) return `${name}=${mask}`;
  return hashedOrKey.test(word) ? mask : word;
};

/** The places of the words that go on with a secret in quotes, as in `password="a b"`: up to the closing quote. */
const inQuotes = (words: readonly string[]): readonly number[] => {
  let open = false;
  return words.flatMap((word, i) => {
    const [, name = '', value = ''] = assigned.exec(word) ?? [];
    const goesOn = open;
    if (open) open = !word.endsWith('"');
    else open = value.startsWith('"') && !/.".*$/s.test(value) && announcing.test(name);
    return goesOn ? [i] : [];
  });
};

/** Masks the secrets among the words of one line. */
export type Mask = (words: readonly string[]) => readonly string[];

/** How secret values may stand in words: whole, and cut at blanks; beside an expression as parts of it. */
const piecesOf = (secrets: readonly string[]): readonly string[] =>
  [
    ...new Set(
      secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]).flatMap((piece) => [piece, escaped(piece)]),
    ),
  ]
    .filter((piece) => piece !== '')
    .sort((a, b) => b.length - a.length);

const shortest = 4;

/** `secrets`: values that are masked wherever they stand; short ones only where they are a whole word. */
export const masking = (secrets: readonly string[]): Mask => {
  const pieces = piecesOf(secrets);
  const withoutPieces = (word: string): string =>
    pieces.reduce((rest, piece) => {
      if (rest === piece || rest === `"${piece}"`) return mask;
      return piece.length >= shortest ? rest.replaceAll(piece, mask) : rest;
    }, word);
  return (words) => {
    const secret = new Set([...announcedIn(words), ...inQuotes(words), communityOfHost(words)]);
    return words.map((word, i) => (secret.has(i) ? mask : withoutPieces(maskedWord(withoutMarks(word)))));
  };
};
