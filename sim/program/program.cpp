// SPDX-License-Identifier: Apache-2.0
#include "program/program.hpp"

namespace orrery {

const char* to_string(StreamKind stream) {
    switch (stream) {
        case StreamKind::Compute:
            return "compute";
        case StreamKind::Tensor:
            return "tensor";
        case StreamKind::Context:
            return "context";
        case StreamKind::Expert:
            return "expert";
        case StreamKind::ForwardSend:
            return "forward send";
        case StreamKind::ForwardRecv:
            return "forward receive";
        case StreamKind::BackwardSend:
            return "backward send";
        case StreamKind::BackwardRecv:
            return "backward receive";
        case StreamKind::Data:
            return "data";
        case StreamKind::ToHost:
            return "to host";
        case StreamKind::ToDevice:
            return "to device";
    }
    return "";
}

const char* to_string(Work work) {
    switch (work) {
        case Work::Forward:
            return "forward";
        case Work::Backward:
            return "backward";
        case Work::InputGradient:
            return "input gradient";
        case Work::WeightGradient:
            return "weight gradient";
        case Work::Recompute:
            return "recompute";
        case Work::Optimizer:
            return "optimizer";
        case Work::Communication:
            return "communication";
    }
    return "";
}

const char* to_string(MemoryCategory category) {
    switch (category) {
        case MemoryCategory::Parameters:
            return "parameters";
        case MemoryCategory::Gradients:
            return "gradients";
        case MemoryCategory::Optimizer:
            return "optimizer";
        case MemoryCategory::Activations:
            return "activations";
        case MemoryCategory::Communication:
            return "communication";
        case MemoryCategory::Workspace:
            return "workspace";
        case MemoryCategory::Framework:
            return "framework";
    }
    return "";
}

const char* to_string(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::AllReduce:
            return "AllReduce";
        case CollectiveKind::AllGather:
            return "AllGather";
        case CollectiveKind::ReduceScatter:
            return "ReduceScatter";
        case CollectiveKind::Broadcast:
            return "Broadcast";
        case CollectiveKind::AllToAll:
            return "AllToAll";
        case CollectiveKind::SendRecv:
            return "SendRecv";
    }
    return "";
}

const char* to_string(Dimension dimension) {
    switch (dimension) {
        case Dimension::Tensor:
            return "tensor";
        case Dimension::Context:
            return "context";
        case Dimension::Expert:
            return "expert";
        case Dimension::Pipeline:
            return "pipeline";
        case Dimension::Data:
            return "data";
    }
    return "";
}

}  // namespace orrery
