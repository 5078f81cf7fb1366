import { authorityFile } from '../../src/secrets/certificate.ts';
import { auditKey } from './auditKey.ts';
import { adminPassword, startService, type TestService } from './service.ts';

const secret = { SECRET_KEY: 'a key of sixteen characters', AUDIT_KEY: auditKey };

/** Where people work, and where an auditor asks. */
export type Place = {
  readonly work: TestService;
  readonly audit: TestService;
  /** The settings of commands that read the log where the auditor asks. */
  readonly settings: Readonly<Record<string, string>>;
};

const oneNode = async (settings: Record<string, string> = {}): Promise<Place> => {
  const service = await startService(settings);
  return { work: service, audit: service, settings: { ...settings, DATA_DIR: service.folder } };
};

/** People work on the node that holds the log; the auditor asks one that reads it over esdb://. */
const twoNodes = async (): Promise<Place> => {
  const work = await startService({ ...secret, ESDB_PORT: '0' });
  const { port } = new URL(work.logUrl ?? '');
  const login = `admin:${encodeURIComponent(adminPassword)}`;
  const url = `esdb://${login}@localhost:${port}?tlsCAFile=${authorityFile(work.folder)}`;
  const settings = { ...secret, EVENTSTORE_URL: url };
  const audit = await startService(settings);
  return { work, audit, settings: { ...settings, DATA_DIR: audit.folder } };
};

const real = process.env.TEST_ESDB_URL;

/** The places in which an auditor's questions have the same answers. A real EventStoreDB must have nothing else. */
export const places: Readonly<Record<string, () => Promise<Place>>> = {
  'on one node': () => oneNode(),
  'on two nodes': twoNodes,
  ...(real && { 'over EventStoreDB': () => oneNode({ ...secret, EVENTSTORE_URL: real }) }),
};

/** Ends the services of a place. */
export const leave = async ({ work, audit }: Place): Promise<void> => {
  if (audit !== work) await audit.stop();
  await work.stop();
};
