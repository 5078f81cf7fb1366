/** What is sent: body and its tag; `position` and `replayed` for changes. */
export type Outgoing = {
  readonly status?: number | undefined;
  readonly body: string | Buffer | undefined;
  readonly type?: string | undefined;
  readonly etag?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly position?: number | undefined;
  readonly replayed?: boolean | undefined;
};
