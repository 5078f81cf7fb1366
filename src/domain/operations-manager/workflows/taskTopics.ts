import { Type } from 'typebox';
import type { DataOf } from '../../engine/core.ts';
import { anyMembers, anything, moment, text, textOrNull, texts, topicsOf, typed, whole } from '../../engine/topics.ts';
import type { TaskEvent } from './taskStates.ts';

const ofRun = { task: text, run: whole };
const ofClaim = { ...ofRun, claim: whole };
const ofChild = { ...ofRun, index: whole };
const stops = Type.Optional(Type.Array(Type.Object(ofChild)));
const momentOrNull = Type.Union([moment, Type.Null()]);
/** The decision did not do all that can be done: the service goes on at once. */
const more = Type.Optional(Type.Literal(true));

/** The topics of a job that runs a workflow (workflows/taskStates.ts). */
export const taskTopics = topicsOf({
  taskStarted: [
    'The service began to hold a task: a loop, a wait, or jobs that are parts of this one',
    typed<DataOf<TaskEvent, 'taskStarted'>>()(
      Type.Object({
        ...ofRun,
        until: Type.Optional(moment),
        keeps: Type.Optional(whole),
        children: Type.Optional(Type.Object({ count: whole, loopType: Type.Optional(text) })),
        more,
      }),
    ),
  ],
  /** `retried`: jobs that earlier runs began, and that had ended in error. */
  childrenBegun: [
    'Jobs that are parts of this one begin',
    typed<DataOf<TaskEvent, 'childrenBegun'>>()(
      Type.Object({
        ...ofRun,
        indexes: Type.Array(whole),
        retried: Type.Array(Type.Object({ index: whole, run: whole })),
        more,
      }),
    ),
  ],
  /** `variables`: those of the job that is a part, as it ended. They are missing if they are too large. */
  childNoted: [
    'A job that is a part of this one ended, could not begin, or runs again',
    typed<DataOf<TaskEvent, 'childNoted'>>()(
      Type.Object({
        ...ofChild,
        status: text,
        variables: Type.Optional(anyMembers),
        error: Type.Optional(text),
      }),
    ),
  ],
  taskOffered: [
    'A task waits for a worker, for a member of groups, or for a node of the service',
    typed<DataOf<TaskEvent, 'taskOffered'>>()(
      Type.Object({
        ...ofRun,
        to: Type.Union([
          Type.Object({ worker: Type.Object({ app: text, name: text, adapter: textOrNull }) }),
          Type.Object({ groups: texts }),
          Type.Object({ platform: Type.Literal(true) }),
        ]),
        until: Type.Optional(moment),
        more,
      }),
    ),
  ],
  taskClaimed: [
    'A worker or a person got a task',
    typed<DataOf<TaskEvent, 'taskClaimed'>>()(
      Type.Object({
        ...ofClaim,
        worker: text,
        account: text,
        until: momentOrNull,
        lease: Type.Union([whole, Type.Null()]),
      }),
    ),
  ],
  taskClaimExtended: [
    'A worker that was heard of keeps its task',
    typed<DataOf<TaskEvent, 'taskClaimExtended'>>()(Type.Object({ ...ofClaim, until: moment })),
  ],
  taskReleased: [
    'A task waits again',
    typed<DataOf<TaskEvent, 'taskReleased'>>()(Type.Object({ ...ofClaim, reason: text })),
  ],
  taskFinished: [
    'A run of a task ended, or one more turn of a loop began',
    typed<DataOf<TaskEvent, 'taskFinished'>>()(
      Type.Object({
        ...ofRun,
        result: text,
        outgoing: anyMembers,
        sets: Type.Optional(Type.Record(Type.String(), Type.String())),
        chosen: Type.Optional(text),
        attempt: Type.Optional(Type.Object({ id: text, count: whole })),
        tasks: Type.Optional(texts),
        error: Type.Optional(anything),
        retry: Type.Optional(moment),
        stops,
        more,
      }),
    ),
  ],
  tasksReverted: [
    'A job went back to a task that had run',
    typed<DataOf<TaskEvent, 'tasksReverted'>>()(
      Type.Object({ from: textOrNull, to: text, tasks: texts, run: whole, stops, more }),
    ),
  ],
  variablesSet: ['Variables of a job were replaced', Type.Object({ variables: anyMembers })],
  jobDescribed: ['The description of a job changed', Type.Object({ description: text, more })],
});
