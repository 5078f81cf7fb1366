/** The password of an account of the tests: without what clients would have to encode in a URL. */
export const passwordOf = (account: string): string => `secret-of-${account}`;
