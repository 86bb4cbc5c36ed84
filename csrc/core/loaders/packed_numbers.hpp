// Packed numbers of a document: consecutive numbers of one type, which are decoded when they are read.
#pragma once

#include "kernels/records.hpp"

namespace fasthdmr {

constexpr char kDoubles = 'J';  // marks float64 numbers parsed from JSON; all other types are those of UBJSON

// The number of bytes of a number of a UBJSON type; 0 for types that are not numeric.
index bytes_of(char type);
inline index bytes_of_packed(char type) { return type == kDoubles ? index(sizeof(double)) : bytes_of(type); }

// Decodes `count` numbers from p.
void decode(char type, const char* p, index count, double* out);

}  // namespace fasthdmr
