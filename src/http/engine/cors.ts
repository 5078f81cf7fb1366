/** The pages of other origins whose scripts may read answers. */
export type Cors = {
  /** `*` is any. */
  readonly origins: readonly string[];
  /** True if they may send a cookie or a login along. It does not hold for any origin. */
  readonly credentials: boolean;
};

/** Reads a list of origins with commas between them. Browsers send an origin in lower case and without a path. */
export const corsOf = (list: string | undefined, credentials: boolean): Cors => {
  const origins = (list ?? '').split(',').map((origin) => origin.trim().toLowerCase().replace(/\/$/, ''));
  return { origins: origins.filter((origin) => origin !== ''), credentials };
};

const exposed = 'ETag, X-Event-Position, X-As-Of-Position, X-Request-Id, Idempotency-Replayed, Retry-After';

/** The header Vary of every answer, and those that let a page of the origin read it, in Node's flat form. */
export const corsHeaders = ({ origins, credentials }: Cors, origin: string | undefined): readonly string[] => {
  const [first, ...others] = origins;
  const isAny = origins.includes('*');
  const varies = others.length > 0 && !isAny;
  const vary = ['Vary', `Authorization, Cookie, Accept-Encoding${varies ? ', Origin' : ''}`];
  const named = varies ? origins.find((one) => one === origin) : first;
  const allowed = isAny ? '*' : named;
  if (allowed === undefined) return vary;
  const headers = [...vary, 'Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', exposed];
  return credentials && !isAny ? [...headers, 'Access-Control-Allow-Credentials', 'true'] : headers;
};
