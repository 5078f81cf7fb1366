import { Type } from 'typebox';
import { type Described, describeTopics, members, nothing, text } from '../engine/topics.ts';
import { activeProfile, profile } from './profiles.ts';

export const profileTopics: readonly Described[] = [
  describeTopics(profile, {
    profileCreated: ['A profile was created', Type.Object({ properties: members })],
    profileUpdated: ['A profile changed, by a merge patch (RFC 7396)', Type.Object({ changes: members })],
    profileDeleted: ['A profile was deleted', nothing],
  }),
  describeTopics(activeProfile, {
    profileActivated: ['Another profile came into force', Type.Object({ id: text })],
  }),
];
