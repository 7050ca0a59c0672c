// The world of a practice fleet; the demonstration gives it to the broker that it starts.
import { statusCodeOperations } from '../../api/service/status-codes.ts';
import { feature } from '../feature.ts';
import { practiceOperations } from './practice.ts';

export const practice = feature({
  operations: practiceOperations,
  follows: statusCodeOperations,
  isPractice: true,
});
