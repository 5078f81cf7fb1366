import { cut } from './texts.ts';

/** One step of a JSON pointer (RFC 6901), escaped. Long member names are cut after 256 characters. */
export const step = (key: string | number): string =>
  `/${cut(String(key), 256).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The steps of a JSON pointer, from the whole value inwards, without escapes. */
export const stepsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'));
