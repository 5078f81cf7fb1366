import { decimal } from './network.ts';

/** A MAC address (48 bits), or an EUI-64. */
export type Hardware = { readonly bits: 48 | 64; readonly value: bigint };

/** How an address is written: words of a number of bits and digits. */
export type Dialect = {
  readonly bits: number;
  readonly separator: string;
  readonly digits: number;
  readonly upper?: boolean;
};

const separated = (count: number, digits: string, separators: string): RegExp[] =>
  [...separators].map((separator) => {
    const word = `[0-9a-f]{${digits}}`;
    return new RegExp(
      `^${Array(count)
        .fill(word)
        .join(separator === '.' ? '\\.' : separator)}\\n?$`,
      'i',
    );
  });

const forms: readonly (readonly [bits: 48 | 64, forms: readonly RegExp[]])[] = [
  [
    48,
    [
      ...separated(6, '1,2', ':-'),
      ...separated(3, '1,4', ':-.'),
      ...separated(2, '5,6', ':-'),
      /^[0-9a-f]{11,12}\n?$/i,
    ],
  ],
  [64, [...separated(8, '1,2', ':-'), ...separated(4, '1,4', ':-.'), /^[0-9a-f]{16}\n?$/i]],
];

/** netaddr.EUI(text); undefined where that is none. */
export const hardwareFrom = (text: string): Hardware | undefined => {
  if (text.length > 64) return undefined;
  const number = decimal(text);
  for (const [bits, all] of forms) {
    if (all.some((form) => form.test(text))) {
      const words = text.trim().split(/[-:.]/);
      const digits = words.map((word) => word.padStart(bits / 4 / words.length, '0')).join('');
      return { bits, value: BigInt(`0x${digits}`) };
    }
    if (number !== undefined && number >= 0n && number < 1n << BigInt(bits)) return { bits, value: number };
  }
  return undefined;
};

/** The address in a dialect; undefined where its words are too few. */
export const hardwareText = ({ value }: Hardware, dialect: Dialect, bits = 48): string | undefined => {
  if (value >> BigInt(bits) > 0n) return undefined;
  const words: string[] = [];
  for (let at = bits - dialect.bits; at >= 0; at -= dialect.bits) {
    const word = (value >> BigInt(at)) & ((1n << BigInt(dialect.bits)) - 1n);
    const hexText = word.toString(16).padStart(dialect.digits, '0');
    words.push(dialect.upper ? hexText.toUpperCase() : hexText);
  }
  return words.join(dialect.separator);
};

/** The interface's part of an IPv6 address, by RFC 4291. */
export const interfaceId = ({ bits, value }: Hardware): bigint => {
  const wide = bits === 64 ? value : ((value >> 24n) << 40n) | 0xff_fe00_0000n | (value & 0xff_ffffn);
  return wide ^ 0x0200_0000_0000_0000n;
};
