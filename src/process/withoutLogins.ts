// A text in brackets is the form of a URL, as help and faults show it; it is kept.
const logins = /:\/\/(?!\[)[^\s/"'@]*(?:@[^\s/"'@]*)*@/g;

/** A text without the user and password of the URLs in it. */
export const withoutLogins = (text: string): string => (text.includes('://') ? text.replace(logins, '://***@') : text);
