import { type Leadership, type Log, newLeadership, repeating as usually } from '@automation-platform/concurrency';
import { splitStream } from '../store/event.ts';
import { type Leader, type LeadNote, type LeadNotes, leadNoteIn, leadStream } from '../store/eventstoredb/lead.ts';
import { type StoredEvent, TamperedStream, WrongRevision } from '../store/port.ts';

type Needs = {
  readonly notes: LeadNotes;
  readonly me: Leader;
  /** False while the log is that of a process which leads itself. */
  readonly mayLead: () => boolean;
  /** Milliseconds from a clock that never jumps. */
  readonly now?: () => number;
  readonly everySecond?: typeof usually;
  readonly log: Log;
};

/** A leadership that has to be started and stopped, and hears of each event of the log. */
export type Lead = Leadership & {
  readonly onStored: (event: StoredEvent) => void;
  /** Resolves once it is known whether this process leads now. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** The leader notes that it leads so long after its last note while nothing is stored, */
export const restMs = 60_000;
/** and so long after an event at the latest. */
export const answerMs = 5_000;
/** When the leader is that late, another process takes the lead. */
export const patienceMs = 15_000;
/** The leader gives up so long before that. */
const marginMs = 5_000;

/**
 * The leadership by notes in the log, of processes that share nothing else. The leader notes now and then that it leads.
 * The other nodes measure how long they have heard nothing, each by its own clock, so clocks need not agree. The stream's
 * revision decides who is first. A leader that stood still finds the note of its successor and leads no more.
 */
export const logLead = ({
  notes,
  me,
  mayLead,
  now = () => performance.now(),
  everySecond = usually,
  log,
}: Needs): Lead => {
  const leadership = newLeadership();
  let leadNote: LeadNote = { revision: -1, leader: undefined };
  // When the leader notes that it leads, or when another process may take the lead.
  let due = 0;
  // When the leader gives up because it could note nothing.
  let end = 0;
  // When this process began to store the note that it tried last.
  let began = 0;
  let works: readonly ReturnType<typeof usually>[] = [];
  let isFailing = false;

  const isMine = ({ leader }: LeadNote): boolean => leader?.process === me.process;

  /** Takes in a note of another process. */
  const hear = (note: LeadNote): void => {
    leadNote = note;
    due = note.leader ? now() + restMs + patienceMs : now();
    leadership.set(false);
  };

  /** Apart from the notes, which may hang. */
  const giveUpInTime = (): void => {
    if (now() >= end) leadership.set(false);
  };

  const noteThatILead = async (after: number): Promise<void> => {
    began = now();
    // The log may deliver the note before its own answer comes.
    due = began + answerMs;
    const revision = await notes.note(after, me, 'leads');
    // A successor has been heard meanwhile.
    if (revision < leadNote.revision) return;
    leadNote = { revision, leader: me };
    end = Math.max(end, began + patienceMs - marginMs);
    leadership.set(now() < end);
  };

  /** Notes that this process leads, or takes the lead if nothing newer than what is known is in the log. */
  const takeOrKeep = async (): Promise<void> => {
    try {
      const newest = leadership.held() ? leadNote : await notes.newest();
      if (newest.revision > leadNote.revision && newest.leader && !isMine(newest)) return hear(newest);
      await noteThatILead(newest.revision);
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      const newest = await notes.newest();
      // A note of this process whose answer was lost counts.
      if (isMine(newest)) await noteThatILead(newest.revision);
      else hear(newest);
    }
  };

  const look = async (): Promise<void> => {
    if (!mayLead()) return leadership.set(false);
    if (now() < due) return;
    await takeOrKeep();
    isFailing = false;
  };

  const onFailure = (error: unknown): void => {
    if (!isFailing) log('Who leads cannot be noted or read; it is tried again', { error });
    isFailing = true;
    if (!(error instanceof TamperedStream)) return;
    // Work must go on although no node can note who leads. Streams decide between two leaders.
    end = Infinity;
    leadership.set(true);
  };

  return {
    held: leadership.held,
    taken: leadership.taken,
    onStored: (event) => {
      // A leader that stood still hears before it looks.
      giveUpInTime();
      if (event.stream !== leadStream) {
        // A checkpoint is no work for a leader.
        if (splitStream(event.stream).category === 'checkpoint') return;
        due = Math.min(due, now() + (leadership.held() ? answerMs : patienceMs));
        end = Math.min(end, now() + patienceMs - marginMs);
        return;
      }
      const note = leadNoteIn(event);
      if (note.revision > leadNote.revision && !isMine(note)) hear(note);
      if (note.revision < leadNote.revision || !isMine(note)) return;
      leadNote = note;
      // Without the lead, the answer was lost or is to come: it may be long ago that this was stored.
      if (!leadership.held()) return;
      due = began + restMs;
      end = began + restMs + patienceMs - marginMs;
    },
    start: async () => {
      leadNote = await notes.newest();
      // An earlier process of this node leads no more.
      if (leadNote.leader && leadNote.leader.node !== me.node) hear(leadNote);
      await look().catch(onFailure);
      works = [everySecond(look, onFailure), everySecond(async () => giveUpInTime(), onFailure)];
    },
    stop: async () => {
      await Promise.all(works.map((work) => work.stop()));
      leadership.set(false);
      if (!isMine(leadNote)) return;
      await notes.note(leadNote.revision, me, 'leaves').catch(() => undefined);
    },
  };
};
