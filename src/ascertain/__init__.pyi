"""The vocabulary, in reading order: where each name lives, for type checkers, editors and `__init__.py` alike."""

from ascertain.version import __version__ as __version__

__all__: list[str]

# what the plant is
from ascertain.model.machine import Machine as Machine
from ascertain.model.noisy import NoisyMachine as NoisyMachine
from ascertain.model.boolean import BooleanPlant as BooleanPlant
from ascertain.model.network import BooleanNetwork as BooleanNetwork
from ascertain.model.hidden import HiddenModel as HiddenModel
from ascertain.model.build import machine_from_transitions as machine_from_transitions
from ascertain.model.build import with_reset as with_reset
from ascertain.model.build import restrict as restrict
from ascertain.model.build import forbid_entering as forbid_entering
from ascertain.model.build import complete as complete
from ascertain.model.union import union as union
from ascertain.model.product import product as product
from ascertain.model.noisy import with_flip as with_flip
from ascertain.model.hidden import as_hidden as as_hidden
from ascertain.model.named import register as register
from ascertain.model.named import shift_register as shift_register
from ascertain.model.files import read_model as read_model
from ascertain.model.files import write_model as write_model
from ascertain.model.files.aalpy import from_aalpy as from_aalpy
from ascertain.model.files.aalpy import to_aalpy as to_aalpy
from ascertain.model.checks import count_missing as count_missing
from ascertain.model.checks import unsound_laws as unsound_laws
from ascertain.model.checks import useless_actions as useless_actions
from ascertain.model.checks import stuck_states as stuck_states
from ascertain.model.checks import unreachable_states as unreachable_states
from ascertain.model.checks import is_strongly_connected as is_strongly_connected

# what is to be ascertained
from ascertain.task.task import Task as Task
from ascertain.task.plant_task import PlantTask as PlantTask
from ascertain.task.hidden_task import HiddenTask as HiddenTask
from ascertain.problem.pose import pose as pose
from ascertain.problem.pose_plant import pose_plant as pose_plant
from ascertain.problem.pose_hidden import pose_hidden as pose_hidden
from ascertain.problem.pose import Reset as Reset
from ascertain.problem.pose import Pattern as Pattern
from ascertain.problem.pose import Log as Log
from ascertain.problem.problem import Problem as Problem
from ascertain.problem.problem import read_problem as read_problem
from ascertain.problem.problem import read_any_problem as read_any_problem

# the roads: one call from a question to a result
from ascertain.pipeline.settle import settle as settle
from ascertain.pipeline.settle import Settled as Settled
from ascertain.pipeline.bound import bound as bound
from ascertain.pipeline.bound import Bounds as Bounds
from ascertain.pipeline.observe import observe as observe
from ascertain.pipeline.observed import Observed as Observed
from ascertain.pipeline.moments import Proposal as Proposal
from ascertain.pipeline.replay import replay as replay
from ascertain.pipeline.replay import Replayed as Replayed
from ascertain.problem.conformance import pose_conformance as pose_conformance
from ascertain.pipeline.conform import conform as conform
from ascertain.pipeline.conform import Conformed as Conformed
from ascertain.pipeline.learn import learn as learn
from ascertain.pipeline.learn import Learned as Learned
from ascertain.pipeline.fingerprint import fingerprint as fingerprint
from ascertain.pipeline.fingerprint import Fingerprinted as Fingerprinted
from ascertain.pipeline.fingerprint import explain_transcript as explain_transcript
from ascertain.pipeline.sequence import find_sequence as find_sequence
from ascertain.pipeline.found_sequence import FoundSequence as FoundSequence
from ascertain.pipeline.identify import identify as identify
from ascertain.pipeline.identify import Identified as Identified
from ascertain.problem.hosts import Host as Host
from ascertain.problem.hosts import read_hosts as read_hosts
from ascertain.pipeline.fleet import observe_fleet as observe_fleet
from ascertain.pipeline.fleet import identify_fleet as identify_fleet
from ascertain.pipeline.fleet import Fleet as Fleet
from ascertain.pipeline.fleet import HostRun as HostRun
from ascertain.pipeline.compile import compile_operation as compile_operation
from ascertain.pipeline.compile import CompiledOperation as CompiledOperation
from ascertain.pipeline.calibrate import calibrate as calibrate
from ascertain.pipeline.calibrate import calibrate_runs as calibrate_runs
from ascertain.pipeline.simulate import simulate as simulate
from ascertain.pipeline.simulate import simulate_runs as simulate_runs
from ascertain.pipeline.journal import read_journal as read_journal
from ascertain.pipeline.journal import RecordedRun as RecordedRun
from ascertain.pipeline.inspect import inspect as inspect
from ascertain.pipeline.environment import as_environment as as_environment
from ascertain.pipeline.wire import check_wiring as check_wiring
from ascertain.pipeline.wire import CheckedWiring as CheckedWiring
from ascertain.pipeline.verify import verify as verify

# what cannot matter
from ascertain.quotients.quotient import take_quotient as take_quotient
from ascertain.quotients.hidden import take_hidden_quotient as take_hidden_quotient
from ascertain.quotients.separation import separating_word as separating_word
from ascertain.quotients.obstruction import find_obstruction as find_obstruction
from ascertain.problem.fingerprint import pose_fingerprint as pose_fingerprint

# how well it can be done
from ascertain.search.exact import solve as solve
from ascertain.search.solution import Solved as Solved
from ascertain.search.solution import Unsolvable as Unsolvable
from ascertain.search.solution import Bounded as Bounded
from ascertain.bounds.information import bound_by_information as bound_by_information
from ascertain.bounds.program import bound_by_program as bound_by_program
from ascertain.planning.two_sided import bound_both_sides as bound_both_sides
from ascertain.planning.two_sided import TwoSidedBounds as TwoSidedBounds

# words and trees that identify states
from ascertain.sequences.preset import find_preset_word as find_preset_word
from ascertain.sequences.unique import find_unique_words as find_unique_words
from ascertain.sequences.characterising import find_characterising_set as find_characterising_set
from ascertain.sequences.characterising import find_harmonised_identifiers as find_harmonised_identifiers
from ascertain.sequences.separating_tree import grow_separating_tree as grow_separating_tree
from ascertain.sequences.separating_tree import SeparatingTree as SeparatingTree
from ascertain.sequences.incomplete import find_identifiable as find_identifiable

# what to do
from ascertain.policy.automaton import Automaton as Automaton
from ascertain.policy.automaton import PolicyTable as PolicyTable
from ascertain.policy.product import Product as Product
from ascertain.policy.evaluate import evaluate as evaluate
from ascertain.policy.combination import evaluate_product as evaluate_product
from ascertain.policy.automaton import draw_policy as draw_policy

# how sure we are
from ascertain.task.bank import Bank as Bank
from ascertain.task.bank import nominal_bank as nominal_bank
from ascertain.task.bank import uniform_bank as uniform_bank
from ascertain.task.bank import weighted_bank as weighted_bank
from ascertain.evidence.worlds import ListWorld as ListWorld
from ascertain.evidence.worlds import MachineWorld as MachineWorld
from ascertain.evidence.boolean_world import BooleanWorld as BooleanWorld
from ascertain.evidence.hidden_world import HiddenWorld as HiddenWorld
from ascertain.evidence.trigger import Trigger as Trigger
from ascertain.evidence.probing import FixedSchedule as FixedSchedule
from ascertain.evidence.probing import round_robin as round_robin
from ascertain.evidence.probing import Separating as Separating
from ascertain.evidence.belief_probing import SeparatingBeliefs as SeparatingBeliefs

# what may have happened
from ascertain.bank.operation import Operation as Operation
from ascertain.problem.operation import pose_operation as pose_operation
from ascertain.bank.compile import compile_bank as compile_bank
from ascertain.bank.shells import bank_shells as bank_shells
from ascertain.bank.calibration_file import Calibration as Calibration
from ascertain.bank.calibration_file import read_calibration as read_calibration
from ascertain.bank.calibration_file import write_calibration as write_calibration

# the decision
from ascertain.observer.settings import ObserverSettings as ObserverSettings
from ascertain.problem.observer import pose_observer as pose_observer
from ascertain.observer.staged import start_observer as start_observer
from ascertain.observer.staged import Observer as Observer
from ascertain.observer.staged import Act as Act
from ascertain.policy.verdict import Certified as Certified
from ascertain.policy.verdict import Abstained as Abstained
from ascertain.policy.verdict import NoneOfThese as NoneOfThese

# the plant, and doing it
from ascertain.plant.abstract import AbstractPlant as AbstractPlant
from ascertain.plant.simulated import SimulatedPlant as SimulatedPlant
from ascertain.plant.replayed import ReplayedPlant as ReplayedPlant
from ascertain.plant.manual import ManualPlant as ManualPlant
from ascertain.plant.aalpy_sul import SulPlant as SulPlant
from ascertain.plant.aalpy_sul import machine_sul as machine_sul
from ascertain.problem.plants import open_plant as open_plant
from ascertain.plant.wiring.plant import open_wiring as open_wiring
from ascertain.plant.wiring.plant import WiredPlant as WiredPlant
from ascertain.live.walk import walk_policy as walk_policy
from ascertain.live.session import run_session as run_session
from ascertain.live.session import Run as Run
from ascertain.live.journal import Journal as Journal
from ascertain.live.resume import resume_observer as resume_observer
from ascertain.live.risk_file import read_risk_file as read_risk_file
from ascertain.live.risk_file import RiskFile as RiskFile

# what convinces a stranger
from ascertain.certificate.claims.run import run_claim as run_claim
from ascertain.certificate import write_certificate as write_certificate

# what goes wrong
from ascertain.errors import AscertainError as AscertainError
from ascertain.errors import ModelError as ModelError
from ascertain.errors import TaskError as TaskError
from ascertain.errors import FileError as FileError
from ascertain.errors import CertificateError as CertificateError
from ascertain.errors import PlantFault as PlantFault
from ascertain.errors import LimitError as LimitError
from ascertain.errors import DeadlineError as DeadlineError
from ascertain.errors import ArgumentError as ArgumentError
