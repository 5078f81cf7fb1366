/** What is sent: body and its tag; `position` and `replayed` for changes. */
export type Outgoing = {
  readonly status?: number;
  readonly body: string | Buffer | undefined;
  readonly type?: string;
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly position?: number;
  readonly replayed?: boolean;
};
