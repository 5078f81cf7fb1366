import { readConfig } from '../../config.ts';
import { argument, type CommandRow, command, option, optionOr } from '../engine/command.ts';
import { emptyFault, momentFault, resourceFault } from '../faults.ts';

const textOption = (value: string, about: string) => ({ ...option(value, about), fault: emptyFault });
const momentOption = (about: string) => ({ ...option('<moment>', about), fault: momentFault });
const momentArgument = (about: string) => ({ ...argument(about), fault: momentFault });
const resource = { ...argument('such as automation/65f0...'), value: '<kind/id>', fault: resourceFault };

const isCount = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

/** The functions of the commands, and where they read. */
const loaded = async () => ({ ...(await import('../audit.ts')), place: { config: readConfig(process.env) } });

/** The commands that answer questions to the log. */
export const auditCommands: readonly CommandRow[] = [
  command({
    name: 'audit log',
    about: 'Find events of the log, the newest first',
    options: {
      actor: textOption('<id>', 'only events of this account, by its id'),
      resource: { ...option('<kind>/<id>', 'only events of this resource'), fault: resourceFault },
      source: textOption('<source>', 'only events of this source'),
      topic: textOption('<topic>', 'only events of this topic'),
      operation: textOption('<name>', 'only events of this operation or reaction'),
      requestId: textOption('<id>', 'only events of this request'),
      correlation: textOption('<id>', 'only events of this correlation'),
      since: momentOption('not before this position or time'),
      until: momentOption('not after this position or time'),
      limit: {
        ...optionOr('<count>', 'how many', '100'),
        fault: (text: string) => (isCount(text) ? undefined : 'It is no number from 1 on.'),
      },
    },
    help: `\
It reads the log itself, also while the service runs, and so with all rights. It says when there may be older events than
those that it shows.`,
    run: async ({ limit, ...wanted }) => {
      const { auditLog, place } = await loaded();
      await auditLog(place, wanted, Number(limit));
      return 0;
    },
  }),
  command({
    name: 'audit show',
    about: 'Show what happened to a resource, the newest first, and what each event changed',
    args: { resource },
    run: async ({ resource }) => {
      const { auditShow, place } = await loaded();
      await auditShow(place, resource);
      return 0;
    },
  }),
  command({
    name: 'audit as-of',
    about: 'Show the document of a resource as it was',
    args: { resource, moment: momentArgument('a position of the log, or a time such as 2026-01-31T09:00:00Z') },
    help: 'It is the document that the events of the resource give: authors are ids, secrets are masked.',
    run: async ({ resource, moment }) => {
      const { auditAsOf, place } = await loaded();
      await auditAsOf(place, resource, moment);
      return 0;
    },
  }),
  command({
    name: 'audit diff',
    about: 'Show how the document of a resource differs between two moments',
    args: { resource, from: momentArgument('a position of the log, or a time'), to: momentArgument('the same') },
    help: 'Each line is an operation of a JSON Patch (RFC 6902).',
    run: async ({ resource, from, to }) => {
      const { auditDiff, place } = await loaded();
      await auditDiff(place, resource, { from, to });
      return 0;
    },
  }),
  command({
    name: 'audit trace',
    about: 'Show what followed from a request, as a tree',
    args: {
      correlation: { ...argument('the id of the request that began it (X-Request-Id)'), fault: emptyFault },
    },
    run: async ({ correlation }) => {
      const { auditTrace, place } = await loaded();
      await auditTrace(place, correlation);
      return 0;
    },
  }),
  command({
    name: 'audit stats',
    about: 'Count the events of the log by source and topic, by account and by day',
    help: 'It also counts events, streams, and bytes of data and metadata. It reads the whole log.',
    run: async () => {
      const { auditStats, place } = await loaded();
      await auditStats(place);
      return 0;
    },
  }),
];
